import { expect, it } from "vitest";
import { previewService, type Vendor } from "./api";

const VENDOR = { provider: "openai", voices: [{ id: "alloy", title: "Alloy", languages: [] }] } as unknown as Vendor;

it("asks to hear a voice as calls would have it, and sends keys and addresses of admins only", () => {
  const service = { provider: "openai", api_key: "****1234", base_url: "https://voices.example.com/v1", speed: 1.2 };
  expect(previewService(service, VENDOR, false)).toEqual({ provider: "openai", voice_id: "alloy", speed: 1.2 });
  expect(previewService({ ...service, voice_id: "echo" }, VENDOR, true)).toEqual({ ...service, voice_id: "echo" });
  expect(previewService({ provider: "gone" }, undefined, true)).toBeNull();
});
