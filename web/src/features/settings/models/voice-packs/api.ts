/** Requests about the voice packs of the server's machine; superusers only. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { api, unwrap } from "../../../../lib/api/client";
import type { Schema } from "../../../../lib/api/types";

export type Packs = Schema<"VoicePacksResponse">;
export type InstalledPack = Schema<"InstalledPackItem">;
export type Offer = Schema<"PackContent">;

const KEY = ["voice-packs"];
const PROGRESS_EVERY_MS = 1000;

/** What is on the machine, read every second while a pack is installed. */
export function usePacks() {
  const queries = useQueryClient();
  const packs = useQuery({
    queryKey: KEY,
    queryFn: () => unwrap(api.GET("/api/v1/superuser/voice-packs")),
    refetchInterval: (query) => (query.state.data?.installation?.state === "running" ? PROGRESS_EVERY_MS : false),
  });
  const names = packs.data?.packs.map((pack) => pack.digest).join(" ");
  const known = useRef(names);
  // What agents can choose changes with what is installed.
  useEffect(() => {
    if (known.current !== undefined && known.current !== names)
      void queries.invalidateQueries({ queryKey: ["models", "defaults"] });
    known.current = names;
  }, [names, queries]);
  return packs;
}

/** What the mirrors have now. */
export function useOffer(addresses: readonly string[]) {
  return useQuery({
    queryKey: [...KEY, "offer", addresses],
    enabled: addresses.length > 0,
    retry: false,
    staleTime: 60_000,
    queryFn: () => unwrap(api.GET("/api/v1/superuser/voice-packs/offer")),
  });
}

function useChange<T, Answer>(change: (value: T) => Promise<Answer>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSettled: () => queries.invalidateQueries({ queryKey: KEY, exact: true }),
  });
}

export function useSaveMirrors() {
  return useChange((addresses: string[]) =>
    unwrap(api.PUT("/api/v1/superuser/voice-packs/mirrors", { body: { addresses } })),
  );
}

/** Installs the offer of this digest, or what the mirror has (null). */
export function useInstall() {
  return useChange((digest: string | null) =>
    unwrap(api.POST("/api/v1/superuser/voice-packs/installation", { body: { digest } })),
  );
}

export function useCancelInstallation() {
  return useChange<null, Packs>(() => unwrap(api.DELETE("/api/v1/superuser/voice-packs/installation")));
}

export interface Removal {
  name: string;
  isUnfinishedOnly: boolean;
}

export function useRemovePack() {
  return useChange(({ name, isUnfinishedOnly }: Removal) =>
    unwrap(
      api.DELETE("/api/v1/superuser/voice-packs/{name}", {
        params: { path: { name }, query: { unfinished_only: isUnfinishedOnly } },
      }),
    ),
  );
}
