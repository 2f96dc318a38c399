/** Lists of people who are called. */

export { CampaignPage } from "./detail/campaign-page";
export { CampaignsPage } from "./campaigns-page";
export { NewCampaignPage } from "./create/new-campaign-page";
