/** The path to open after signing in, which is always on this site. */

export function nextPath(next: string | undefined): string {
  return next !== undefined && /^\/(?![/\\])/.test(next) && !next.startsWith("/sign-in") ? next : "/";
}
