/** Reads pasted text or a chosen file: a cURL command or an OpenAPI document. */

import { isCurl, readCurl } from "./curl";
import { type Imported, Unreadable, isObject } from "./imported";
import { readOpenApi } from "./openapi";

/** In characters. */
export const MAX_LETTERS = 20_000_000;

export async function readImport(text: string): Promise<Imported> {
  try {
    if (text.length > MAX_LETTERS) throw new Unreadable("The document is too large. The limit is 20 MB.");
    if (isCurl(text)) return { requests: [readCurl(text)] };
    const document = await documentOf(text);
    if (!isObject(document) || !("openapi" in document || "swagger" in document)) throw new Unreadable(NEITHER);
    return { requests: readOpenApi(document) };
  } catch (error) {
    if (error instanceof Unreadable) return { problem: error.message };
    throw error;
  }
}

const NEITHER = "This is neither a cURL command nor an OpenAPI document.";

/** The browser parses JSON itself, which is far faster; the YAML parser is loaded only when needed. */
async function documentOf(text: string): Promise<unknown> {
  const isJson = /^\s*\{/.test(text);
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (isJson && error instanceof Error && !/openapi|swagger/.test(text)) throw new Unreadable(NEITHER);
  }
  if (!/openapi|swagger/.test(text)) throw new Unreadable(NEITHER);
  const { CORE_SCHEMA, YAMLException, load } = await import("js-yaml");
  try {
    return load(text, { schema: CORE_SCHEMA });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    // the library counts the end of the text as a line of its own
    const line = Math.min((error.mark?.line ?? 0) + 1, text.split("\n").length);
    throw new Unreadable(`The document has an error on line ${line}: ${error.reason}.`);
  }
}
