/** Addresses of pages, as people type and read them. */

/** Puts https:// before an address without a scheme: "acme.com/hours". */
export function completeAddress(typed: string): string {
  const address = typed.trim();
  return address === "" || /^[a-z][a-z\d+.-]*:\/\//i.test(address) ? address : `https://${address}`;
}

/** Returns an address without its scheme and final slash. */
export function shownAddress(address: string): string {
  return address.replace(/^https:\/\//, "").replace(/\/$/, "");
}
