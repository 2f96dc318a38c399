/** Documents that agents know. */

export { KnowledgePage } from "./knowledge-page";
