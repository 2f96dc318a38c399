/** Where to go after signing in: an address of ours, never somebody else's. */

export function nextPath(next: string | undefined): string {
  return next !== undefined && /^\/(?![/\\])/.test(next) && !next.startsWith("/sign-in") ? next : "/";
}
