/** Carrier accounts for choices and facts, which several features need. */

import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "../api/client";
import { humanize } from "../format/format";
import type { Schema } from "../api/types";

export type CarrierAccount = Schema<"TelephonyConfigItem">;

export function useCarrierAccounts() {
  return useQuery({
    queryKey: ["telephony", "accounts"],
    queryFn: () => unwrap(api.GET("/api/v1/organizations/telephony-configs")),
  });
}

/** The numbers of an account from which it may call, its default first. */
export function useCallerNumbers(accountId: number | undefined) {
  return useQuery({
    queryKey: ["telephony", "numbers", accountId],
    enabled: accountId !== undefined,
    queryFn: () =>
      unwrap(
        api.GET("/api/v1/organizations/telephony-configs/{configuration_id}/phone-numbers", {
          params: { path: { configuration_id: accountId ?? 0 } },
        }),
      ),
    select: ({ phone_numbers: numbers }) =>
      numbers
        .filter((number) => number.is_active && number.address_type === "pstn")
        .sort((a, b) => Number(b.is_default_caller_id) - Number(a.is_default_caller_id))
        .map((number) => number.address),
  });
}

/** Why no call can leave, in words; the API names the reason. */
const BLOCKED: Record<string, string> = {
  carrier_cannot_dial: "This carrier can only receive calls here.",
  inactive: "This account is disabled. It neither places nor receives calls.",
  public_url_missing:
    "Calls cannot be placed because the carrier cannot reach this server. Start it with OFFHOOK_PUBLIC_URL set to its public address.",
  no_phone_number: "Calls cannot be placed yet. Add a number to call from.",
};

/** Null when calls can leave. */
export function blockedBecause(account: CarrierAccount): string | null {
  const reason = account.outbound_blocked_reason;
  return reason === null ? null : (BLOCKED[reason] ?? `${humanize(reason)}.`);
}

/** The account by which calls go out: the one that was chosen, else the default. */
export function placingAccount(accounts: readonly CarrierAccount[], chosen: number | null): CarrierAccount | undefined {
  return accounts.find((account) => (chosen === null ? account.is_default_outbound : account.id === chosen));
}
