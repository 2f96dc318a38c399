/** Lists of people who are called. */

export { CampaignPage } from "./campaign_page";
export { CampaignsPage } from "./campaigns_page";
export { NewCampaignPage } from "./new_campaign_page";
