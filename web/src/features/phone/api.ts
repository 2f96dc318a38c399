/** Requests about carrier accounts and telephone numbers. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "../../lib/api/client";
import type { Schema } from "../../lib/api/types";

export type Account = Schema<"TelephonyConfigItem">;
export type PhoneNumber = Schema<"PhoneNumberResponse">;
export type Carrier = Schema<"TelephonyProviderResponse">;

const KEY = ["telephony"];
const at = (id: number) => ({ params: { path: { configuration_id: id } } });
const number = (accountId: number, id: number) => ({
  params: { path: { configuration_id: accountId, phone_number_id: id } },
});

export function useCarriers() {
  return useQuery({
    queryKey: ["carriers"],
    staleTime: Infinity,
    queryFn: () => unwrap(api.GET("/api/v1/organizations/telephony-providers/metadata")),
  });
}

export function useAccounts() {
  return useQuery({
    queryKey: [...KEY, "accounts"],
    queryFn: () => unwrap(api.GET("/api/v1/organizations/telephony-configs")),
  });
}

export function useAccount(id: number | null) {
  return useQuery({
    queryKey: [...KEY, "account", id],
    enabled: id !== null,
    queryFn: () => unwrap(api.GET("/api/v1/organizations/telephony-configs/{configuration_id}", at(id ?? 0))),
  });
}

/** Every change of an account or number shows everywhere. */
function useChange<Input, Output>(mutationFn: (input: Input) => Promise<Output>) {
  const queries = useQueryClient();
  return useMutation({ mutationFn, onSettled: () => queries.invalidateQueries({ queryKey: KEY }) });
}

export function useSaveAccount(id: number | null) {
  return useChange(({ name, config }: { name: string; config: Record<string, unknown> }) =>
    id === null
      ? unwrap(
          api.POST("/api/v1/organizations/telephony-configs", {
            body: { name, config } as Schema<"TelephonyConfigCreate">,
          }),
        )
      : unwrap(
          api.PUT("/api/v1/organizations/telephony-configs/{configuration_id}", { ...at(id), body: { name, config } }),
        ),
  );
}

/** Asks the carrier whether the stored credentials work. */
export function useCheck() {
  return useChange(async (account: Account) => {
    const { credentials } = await unwrap(
      api.GET("/api/v1/organizations/telephony-configs/{configuration_id}", at(account.id)),
    );
    const config = { ...(credentials as Record<string, unknown>), provider: account.provider };
    if (account.inactive)
      return unwrap(api.POST("/api/v1/organizations/telephony-configs/{configuration_id}/reactivate", at(account.id)));
    return unwrap(
      api.PUT("/api/v1/organizations/telephony-configs/{configuration_id}", { ...at(account.id), body: { config } }),
    );
  });
}

export function useMakeDefault() {
  return useChange((id: number) =>
    unwrap(api.POST("/api/v1/organizations/telephony-configs/{configuration_id}/set-default-outbound", at(id))),
  );
}

export function useDeleteAccount() {
  return useChange((id: number) =>
    unwrap(api.DELETE("/api/v1/organizations/telephony-configs/{configuration_id}", at(id))),
  );
}

export function useNumbers(accountId: number) {
  return useQuery({
    queryKey: [...KEY, "numbers", accountId],
    queryFn: () =>
      unwrap(api.GET("/api/v1/organizations/telephony-configs/{configuration_id}/phone-numbers", at(accountId))),
  });
}

export function useAddNumber(accountId: number) {
  return useChange((body: Partial<Schema<"PhoneNumberCreate">> & { address: string }) =>
    unwrap(
      api.POST("/api/v1/organizations/telephony-configs/{configuration_id}/phone-numbers", {
        ...at(accountId),
        body: body as Schema<"PhoneNumberCreate">,
      }),
    ),
  );
}

export function useUpdateNumber(accountId: number) {
  return useChange(({ id, body }: { id: number; body: Partial<Schema<"PhoneNumberUpdate">> }) =>
    unwrap(
      api.PUT("/api/v1/organizations/telephony-configs/{configuration_id}/phone-numbers/{phone_number_id}", {
        ...number(accountId, id),
        body: body as Schema<"PhoneNumberUpdate">,
      }),
    ),
  );
}

/** Gives a number of the platform back to its carrier; takes one's own only out of the list. */
export function useRemoveNumber(accountId: number) {
  return useChange(async (one: PhoneNumber): Promise<void> => {
    if (one.is_managed)
      await unwrap(
        api.DELETE("/api/v1/telephony/managed-numbers/{phone_number_id}", {
          params: { path: { phone_number_id: one.id } },
        }),
      );
    else
      await unwrap(
        api.DELETE(
          "/api/v1/organizations/telephony-configs/{configuration_id}/phone-numbers/{phone_number_id}",
          number(accountId, one.id),
        ),
      );
  });
}

export function useAvailable(country: string, areaCode: string, isWanted: boolean) {
  return useQuery({
    queryKey: ["available-numbers", country, areaCode],
    enabled: isWanted,
    queryFn: () =>
      unwrap(
        api.GET("/api/v1/telephony/available-numbers", {
          params: { query: { country, ...(areaCode === "" ? {} : { area_code: areaCode }) } },
        }),
      ),
  });
}

export function useQuickConnect() {
  return useChange((body: Partial<Schema<"QuickConnectRequest">> & { mode: "forward" | "new" }) =>
    unwrap(api.POST("/api/v1/telephony/quick-connect", { body: body as Schema<"QuickConnectRequest"> })),
  );
}

export function useRefused(page: number) {
  return useQuery({
    queryKey: [...KEY, "refused", page],
    placeholderData: (before) => before,
    queryFn: () => unwrap(api.GET("/api/v1/telephony/refused-calls", { params: { query: { page, limit: 10 } } })),
  });
}
