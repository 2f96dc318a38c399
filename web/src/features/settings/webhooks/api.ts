/** Requests about webhooks and their deliveries. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "../../../lib/api/client";
import type { Schema } from "../../../lib/api/types";

const at = (id: number) => ({ params: { path: { webhook_id: id } } });

export function useWebhooks() {
  return useQuery({ queryKey: ["webhooks"], queryFn: () => unwrap(api.GET("/api/v1/organizations/webhooks")) });
}

export function useSaveWebhook(id: number | null) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schema<"WebhookCreate">): Promise<Schema<"WebhookResponse"> | Schema<"WebhookCreated">> =>
      id === null
        ? unwrap(api.POST("/api/v1/organizations/webhooks", { body }))
        : unwrap(
            api.PATCH("/api/v1/organizations/webhooks/{webhook_id}", {
              ...at(id),
              body: body as Schema<"WebhookUpdate">,
            }),
          ),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["webhooks"] }),
  });
}

export function useEnableWebhook() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ id, isEnabled }: { id: number; isEnabled: boolean }) =>
      unwrap(
        api.PATCH("/api/v1/organizations/webhooks/{webhook_id}", {
          ...at(id),
          body: { is_enabled: isEnabled } as Schema<"WebhookUpdate">,
        }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: ["webhooks"] }),
  });
}

export function useDeleteWebhook() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: number) => unwrap(api.DELETE("/api/v1/organizations/webhooks/{webhook_id}", at(id))),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["webhooks"] }),
  });
}

export function useTestWebhook() {
  return useMutation({
    mutationFn: (id: number) => unwrap(api.POST("/api/v1/organizations/webhooks/{webhook_id}/test", at(id))),
  });
}

export function useRotateSecret() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: number) => unwrap(api.POST("/api/v1/organizations/webhooks/{webhook_id}/rotate-secret", at(id))),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["webhooks"] }),
  });
}

export type DeliveryStatus = Schema<"DeliveryResponse">["status"];

export function useDeliveries(id: number, status: DeliveryStatus | null, page: number) {
  return useQuery({
    queryKey: ["webhooks", id, "deliveries", status, page],
    placeholderData: (before) => before,
    refetchInterval: (query) =>
      query.state.data?.deliveries.some((delivery) => delivery.status === "pending") ? 4_000 : false,
    queryFn: () =>
      unwrap(
        api.GET("/api/v1/organizations/webhooks/{webhook_id}/deliveries", {
          params: { path: { webhook_id: id }, query: { page, limit: 20, ...(status === null ? {} : { status }) } },
        }),
      ),
  });
}

export function useDelivery(id: number, deliveryId: number) {
  return useQuery({
    queryKey: ["webhooks", id, "deliveries", "one", deliveryId],
    queryFn: () =>
      unwrap(
        api.GET("/api/v1/organizations/webhooks/{webhook_id}/deliveries/{delivery_id}", {
          params: { path: { webhook_id: id, delivery_id: deliveryId } },
        }),
      ),
  });
}

export function useResend(id: number) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (deliveryId: number) =>
      unwrap(
        api.POST("/api/v1/organizations/webhooks/{webhook_id}/deliveries/{delivery_id}/resend", {
          params: { path: { webhook_id: id, delivery_id: deliveryId } },
        }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: ["webhooks", id] }),
  });
}

export function useResendDead(id: number) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => unwrap(api.POST("/api/v1/organizations/webhooks/{webhook_id}/resend-dead", at(id))),
    onSettled: () => queries.invalidateQueries({ queryKey: ["webhooks", id] }),
  });
}
