/** Requests about a person's own two-step sign-in. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "../../../lib/api/client";

const KEY = ["second-factor"];

export function useSecondFactor() {
  return useQuery({ queryKey: KEY, queryFn: () => unwrap(api.GET("/api/v1/auth/second-factor")) });
}

/** Asks anew what depends on the second factor: once the recovery codes are put away. */
export function useSecondFactorChanged() {
  const queries = useQueryClient();
  return () => {
    for (const queryKey of [KEY, ["account"], ["sessions"]]) void queries.invalidateQueries({ queryKey });
  };
}

export function useEnroll() {
  return useMutation({
    mutationFn: (current_password: string) =>
      unwrap(
        api.POST("/api/v1/auth/second-factor/enrollment", {
          body: current_password === "" ? {} : { current_password },
        }),
      ),
  });
}

export function useConfirmEnrollment() {
  return useMutation({
    mutationFn: (code: string) => unwrap(api.POST("/api/v1/auth/second-factor/confirmation", { body: { code } })),
  });
}

export function useRenewRecoveryCodes() {
  return useMutation({
    mutationFn: (code: string) => unwrap(api.POST("/api/v1/auth/second-factor/recovery-codes", { body: { code } })),
  });
}

export function useRemoveSecondFactor() {
  return useMutation({
    mutationFn: (code: string) => unwrap(api.POST("/api/v1/auth/second-factor/removal", { body: { code } })),
  });
}
