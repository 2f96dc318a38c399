import js from "@eslint/js";
import jsxA11y from "eslint-plugin-jsx-a11y";
import reactHooks from "eslint-plugin-react-hooks";
import globals from "globals";
import tseslint from "typescript-eslint";
import { importZones } from "./eslint-import-zones.js";

const MOUSE = ["onClick", "onMouseDown", "onMouseUp", "onPointerDown", "onPointerUp"];

export default tseslint.config(
  { ignores: ["node_modules", "src/**/api.d.ts"] },
  js.configs.recommended,
  { files: ["*.js"], languageOptions: { globals: globals.node } },
  { languageOptions: { globals: globals.browser }, linterOptions: { reportUnusedDisableDirectives: "error" } },
  {
    files: ["**/*.{ts,tsx}"],
    extends: [tseslint.configs.strictTypeChecked, jsxA11y.flatConfigs.recommended, reactHooks.configs.flat.recommended],
    languageOptions: {
      parserOptions: {
        project: ["./tsconfig.app.json", "./tsconfig.worklet.json", "./tsconfig.node.json"],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    plugins: { offhook: { rules: { "import-zones": importZones } } },
    rules: {
      "offhook/import-zones": "error",
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-unused-vars": ["error", { ignoreRestSiblings: true }],
      // The router takes a redirect that is thrown.
      "@typescript-eslint/only-throw-error": [
        "error",
        { allow: [{ from: "package", package: "@tanstack/router-core", name: "Redirect" }] },
      ],
      // What scrolls has to be reached by keyboard (axe: scrollable-region-focusable).
      "jsx-a11y/no-noninteractive-tabindex": ["error", { tags: [], roles: ["tabpanel", "log", "region"] }],
      // A box may listen to keys that bubble up from the controls inside it; the mouse presses controls alone.
      "jsx-a11y/no-noninteractive-element-interactions": ["error", { handlers: MOUSE }],
      "jsx-a11y/no-static-element-interactions": ["error", { handlers: MOUSE }],
      // A field that replaces a button which was just pressed takes the focus; Mantine's own fields decide for themselves.
      "jsx-a11y/no-autofocus": ["error", { ignoreNonDOM: true }],
      // These four are what the React compiler needs to work, which is not used here.
      "react-hooks/immutability": "off",
      "react-hooks/preserve-manual-memoization": "off",
      "react-hooks/refs": "off",
      "react-hooks/set-state-in-effect": "off",
    },
  },
);
