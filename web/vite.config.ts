import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const backend = process.env.OFFHOOK_BACKEND ?? "http://127.0.0.1:8480";

export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "../src/offhook/_ui",
    emptyOutDir: true,
    // Every asset is a file of ours, so that a strict Content-Security-Policy needs no data: or blob: addresses.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 700,
  },
  worker: { format: "es" },
  server: { proxy: { "/api": { target: backend, ws: true } } },
  test: { include: ["src/**/*.test.ts", "src/**/*.test.tsx"] },
});
