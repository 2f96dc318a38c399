/** Signing in and out, and joining an organization. */

export { useOrganizations, useSignOut, useSwitch } from "./api";
export { InvitationPage } from "./invitation-page";
export { useProviderStart } from "./provider-api";
export { ProviderCallbackPage } from "./provider-callback-page";
export { SignInPage } from "./sign-in-page";
