/** Requests about the do-not-call list and the audit log. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "../../../lib/api/client";

export function useDoNotCall(search: string, page: number) {
  return useQuery({
    queryKey: ["do-not-call", search, page],
    placeholderData: (before) => before,
    queryFn: () =>
      unwrap(
        api.GET("/api/v1/organizations/do-not-call", {
          params: { query: { page, limit: 25, ...(search === "" ? {} : { search }) } },
        }),
      ),
  });
}

export function useAddDoNotCall() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ numbers, reason }: { numbers: string[]; reason: string }) =>
      unwrap(
        api.POST("/api/v1/organizations/do-not-call", {
          body: { phone_numbers: numbers, ...(reason === "" ? {} : { reason }) },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["do-not-call"] }),
  });
}

export function useRemoveDoNotCall() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: number) =>
      unwrap(api.DELETE("/api/v1/organizations/do-not-call/{entry_id}", { params: { path: { entry_id: id } } })),
    onSettled: () => queries.invalidateQueries({ queryKey: ["do-not-call"] }),
  });
}

const auditFilters = (action: string) =>
  action === "" ? "" : JSON.stringify([{ field: "action", type: "text", value: action }]);

/** The same entries as a file. */
export function auditExportPath(action: string): string {
  const filters = auditFilters(action);
  const query = filters === "" ? "" : `?${new URLSearchParams({ filters }).toString()}`;
  return `/api/v1/organizations/audit-log/export${query}`;
}

export function useAudit(action: string, page: number) {
  const filters = auditFilters(action);
  return useQuery({
    queryKey: ["audit", action, page],
    placeholderData: (before) => before,
    queryFn: () =>
      unwrap(
        api.GET("/api/v1/organizations/audit-log", {
          params: { query: { page, limit: 25, ...(filters === "" ? {} : { filters }) } },
        }),
      ),
  });
}
