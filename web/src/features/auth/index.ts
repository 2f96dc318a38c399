/** Signing in and out, and joining an organization. */

export { useOrganizations, useSignOut, useSwitch } from "./api";
export { InvitationPage } from "./invitation-page";
export { SignInPage } from "./sign-in-page";
