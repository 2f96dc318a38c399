/**
 * Addresses that the API hands out name the server's public host, which may be another name than the one this page
 * came by (a tunnel for carriers, a development proxy). The page's own origin is the one that works here.
 */

/** The same file on this page's origin, as a path with its query. */
export function localPath(address: string, page: string): string {
  const url = new URL(address, page);
  return url.pathname + url.search;
}

/** The same socket on this page's origin, with its token. */
export function socketAddress(mediaUrl: string, token: string, page: string): string {
  const url = new URL(localPath(mediaUrl, page), page);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  if (token !== "" && !url.searchParams.has("token")) url.searchParams.set("token", token);
  return url.href;
}
