import { expect, it } from "vitest";
import { auditExportPath } from "./api";

it("exports what the list finds", () => {
  expect(auditExportPath("")).toBe("/api/v1/organizations/audit-log/export");
  const asked = new URL(auditExportPath("member.added"), "http://host").searchParams.get("filters");
  expect(JSON.parse(asked ?? "")).toEqual([{ field: "action", type: "text", value: "member.added" }]);
});
