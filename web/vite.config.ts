import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/** Below this a header costs more than it saves. */
const WORTH_BYTES = 1024;

/** Writes scripts and styles compressed beside themselves, so that the server never has to: `x.js.br` and `x.js.gz`. */
function compressed(): Plugin {
  const brotli = (content: Buffer) =>
    promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } });
  return {
    name: "compressed",
    apply: "build",
    async writeBundle({ dir = "" }, bundle) {
      const files = Object.keys(bundle).filter((name) => /\.(js|css)$/.test(name));
      await Promise.all(
        files.map(async (name) => {
          const content = await readFile(join(dir, name));
          if (content.length < WORTH_BYTES) return;
          await writeFile(join(dir, `${name}.br`), await brotli(content));
          await writeFile(join(dir, `${name}.gz`), await promisify(gzip)(content, { level: 9 }));
        }),
      );
    },
  };
}

const backend = process.env.OFFHOOK_BACKEND ?? "http://127.0.0.1:8480";

export default defineConfig({
  plugins: [react(), compressed()],
  build: {
    outDir: "../src/offhook/_ui",
    emptyOutDir: true,
    // Every asset is a file of ours, so that a strict Content-Security-Policy needs no data: or blob: addresses.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 700,
  },
  worker: { format: "es" },
  server: { proxy: { "/api": { target: backend, ws: true } } },
  test: {
    // A document and the libraries' modules for each worker rather than for each file: 40 s of CPU instead of 110 s.
    // So a file leaves nothing behind: the setup takes back what a test rendered, asked for and stored.
    pool: "threads",
    isolate: false,
    maxWorkers: "100%",
    projects: [
      { extends: true, test: { name: "logic", include: ["src/**/*.test.ts"] } },
      {
        extends: true,
        test: {
          name: "forms",
          include: ["src/**/*.test.tsx"],
          environment: "jsdom",
          setupFiles: ["src/testing/setup.ts"],
          // A loaded machine takes seconds to render a form with its lists for the first time.
          testTimeout: 30_000,
        },
      },
    ],
  },
});
