/** How much was used, what it cost, and how it went. */

export { OverviewPage } from "./overview-page";
export { UsagePage } from "./usage-page";
