/** What those see who run the installation. */

export { SuperuserPage } from "./superuser-page";
