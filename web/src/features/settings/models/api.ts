/** Requests about the models that calls use, and the shape in which they are edited. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "../../../lib/api/client";
import type { Schema } from "../../../lib/api/types";

export type Kind = "llm" | "tts" | "stt";
export const KINDS: readonly Kind[] = ["llm", "tts", "stt"];
/** The model that hears and speaks itself is an addition: a call has the other three in any case. */
export type AnyKind = Kind | "realtime";
export const KIND_TITLES: Record<AnyKind, string> = {
  llm: "Language model",
  tts: "Voice",
  stt: "Speech recognition",
  realtime: "Speech-to-speech model",
};

/** One service as it is stored: what is left out is its vendor's default. A key comes back as its mask. */
export type Service = { provider: string } & Partial<
  Record<"model" | "api_key" | "base_url" | "voice_id" | "language" | "access_key_id" | "region", string>
> &
  Partial<Record<"temperature" | "max_tokens" | "speed", number>>;

export type Chosen = Partial<Record<AnyKind | "embeddings", Service>> & {
  is_realtime?: boolean | null;
  fallbacks?: Partial<Record<Kind, Service[]>>;
} & Record<string, unknown>;

type Body = Schema<"OrganizationAIModelConfigurationV2">;

export function useModelChoice() {
  return useQuery({
    queryKey: ["models"],
    queryFn: () => unwrap(api.GET("/api/v1/organizations/model-configurations/v2")),
  });
}

export function useModelDefaults(isWanted = true) {
  return useQuery({
    queryKey: ["models", "defaults"],
    enabled: isWanted,
    staleTime: 60_000,
    queryFn: () => unwrap(api.GET("/api/v1/organizations/model-configurations/v2/defaults")),
  });
}

/** What may be chosen of each kind. */
export type Known = NonNullable<ReturnType<typeof useModelDefaults>["data"]>;
export type Vendor = Known["providers"][string][number];

export function useSaveModels() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (chosen: Chosen) =>
      unwrap(api.PUT("/api/v1/organizations/model-configurations/v2", { body: chosen as unknown as Body })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["models"] }),
  });
}

export function useCheckModels() {
  return useMutation({
    mutationFn: (chosen: Chosen) =>
      unwrap(api.POST("/api/v1/organizations/model-configurations/v2/check", { body: chosen as unknown as Body })),
  });
}

/** What the fields of a service are called where they are filled in. */
export const SERVICE_LABELS = {
  access_key_id: "Access key ID",
  api_key: "API key",
  base_url: "Base URL",
  max_tokens: "Max output tokens",
  provider: "Vendor",
  voice_id: "Voice",
};

/** Without the fields that another provider would not know. */
export function withProvider(provider: string): Service {
  return { provider };
}

/** Empty fields are left out, so that the vendor's own default holds. */
export function withServiceField(service: Service, name: keyof Service, value: string | number | null): Service {
  const { [name]: _, ...rest } = service;
  return (value === null || value === "" ? rest : { ...rest, [name]: value }) as Service;
}

/** What a voice is asked with to be heard: empty fields are the vendor's default, and only admins send keys and addresses. */
export function previewService(
  service: Service,
  vendor: Vendor | undefined,
  isAdmin: boolean,
): Schema<"TtsService"> | null {
  if (vendor === undefined) return null;
  const { api_key, base_url, ...rest } = service;
  const first = vendor.voices[0]?.id;
  const own = isAdmin
    ? { ...(api_key === undefined ? {} : { api_key }), ...(base_url === undefined ? {} : { base_url }) }
    : {};
  return { ...(first === undefined ? {} : { voice_id: first }), ...rest, ...own };
}
