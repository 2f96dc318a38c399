/** Prepares each file of tests, and leaves nothing of a test to the next. */

import { cleanup, configure } from "@testing-library/react";
import { afterEach } from "vitest";
import "./browser-stubs";
import { forgetQueries } from "./queries";
import { network } from "./server";

// A loaded machine renders a page with its lists in seconds.
configure({ asyncUtilTimeout: 15_000 });

afterEach(async () => {
  cleanup();
  forgetQueries();
  // A late answer would reach the next test. A request that is held is never answered.
  await Promise.race([Promise.allSettled(network.pending), new Promise((resolve) => setTimeout(resolve, 100))]);
  await new Promise((resolve) => setTimeout(resolve, 0));
  network.pending.clear();
  localStorage.clear();
  sessionStorage.clear();
});
