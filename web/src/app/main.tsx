/** Starts the page. */

import "@fontsource-variable/figtree/wght.css";
import "@mantine/core/styles.css";
import "./global.css";
import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { keepFocus } from "../lib/focus/keep-focus";
import { watchFocus } from "../lib/focus/last-focused";
import { preventFileDrop } from "../lib/ui/prevent-file-drop";
import { queryClient } from "./query-client";
import { makeRouter } from "./router";
import { theme } from "./theme";

const router = makeRouter();
const root = document.getElementById("root");
if (root !== null) {
  watchFocus();
  keepFocus();
  preventFileDrop();
  createRoot(root).render(
    <StrictMode>
      <MantineProvider theme={theme} defaultColorScheme="auto">
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
}
