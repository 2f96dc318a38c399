/** Signing in and out. */

export { useAccount, useSignOut } from "./api";
export { SignInPage } from "./sign_in_page";
