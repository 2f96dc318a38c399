/** How much was used, what it cost, and how it went. */

export { OverviewPage } from "./overview_page";
export { UsagePage } from "./usage_page";
