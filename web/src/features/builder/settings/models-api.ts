/** The vendors, models and voices that an agent can choose from, and what its organization uses. */

import { useQuery } from "@tanstack/react-query";
import type { components } from "../../../lib/api/api";
import { api, unwrap } from "../../../lib/api/client";

// The client's answers have tuples as lists.
export type Provider = Omit<components["schemas"]["ProviderResponse"], "speed_range"> & {
  speed_range: number[] | null;
};

export function useModelChoices() {
  return useQuery({
    queryKey: ["models", "choices"],
    staleTime: 60_000,
    queryFn: async () => {
      const [defaults, mine] = await Promise.all([
        unwrap(api.GET("/api/v1/organizations/model-configurations/v2/defaults")),
        unwrap(api.GET("/api/v1/organizations/model-configurations/v2")),
      ]);
      return { providers: defaults.providers, effective: mine.effective, kept: vendorOf(mine.configuration.realtime) };
    },
  });
}

/** The vendor of a stored service. */
function vendorOf(service: unknown): string | undefined {
  const provider = typeof service === "object" && service !== null && "provider" in service && service.provider;
  return typeof provider === "string" ? provider : undefined;
}
