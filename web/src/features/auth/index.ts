/** Signing in and out, and joining an organisation. */

export { useOrganizations, useSignOut, useSwitch } from "./api";
export { InvitationPage } from "./invitation-page";
export { SignInPage } from "./sign-in-page";
