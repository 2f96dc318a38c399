declare module "js-yaml" {
  export class YAMLException extends Error {
    reason: string;
    mark?: { line: number; column: number };
  }
  export const CORE_SCHEMA: object;
  export function load(text: string, options: { schema: object }): unknown;
}
