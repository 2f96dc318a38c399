/** Signing in and out, and joining an organisation. */

export { useOrganizations, useSignOut, useSwitch } from "./api";
export { InvitationPage } from "./invitation_page";
export { SignInPage } from "./sign_in_page";
