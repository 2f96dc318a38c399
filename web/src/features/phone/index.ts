/** Carriers, their numbers, and who answers them. */

export { PhonePage } from "./phone-page";
