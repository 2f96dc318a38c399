/** The delivery log of one webhook: what was sent, what came back, and sending it again. */

import {
  Alert,
  Badge,
  Button,
  Code,
  CloseButton,
  Drawer,
  Group,
  SegmentedControl,
  Stack,
  Table,
  Text,
} from "@mantine/core";
import { useState } from "react";
import { DataTable, Pager } from "../../../components/tables/data-table";
import { Empty, Loaded } from "../../../components/layout/page";
import { Panel } from "../../../components/layout/panel";
import { formatDateTime, pluralize, formatMilliseconds, formatTimeAgo } from "../../../lib/format/format";
import { useLastPage } from "../../../lib/ui/last-page";
import { notifySuccess, notifyError } from "../../../lib/ui/notifications";
import type { Schema } from "../../../lib/api/types";
import { type DeliveryStatus, useDeliveries, useDelivery, useResend, useResendDead } from "./api";

const STATES: Record<DeliveryStatus, string> = { pending: "Waiting", delivered: "Delivered", dead: "Failed" };
const COLORS: Record<DeliveryStatus, string> = { pending: "yellow", delivered: "brand", dead: "red" };
const COLUMNS = [
  { title: "#", isRight: true },
  { title: "Event" },
  { title: "Status" },
  { title: "Response" },
  { title: "Attempts", isRight: true },
  { title: "When" },
  { title: "Actions", isQuiet: true },
];

export function Deliveries({ webhook, onClose }: { webhook: Schema<"WebhookResponse">; onClose: () => void }) {
  const [status, setStatus] = useState<DeliveryStatus | null>(null);
  const [page, setPage] = useState(1);
  const [openId, setOpenId] = useState<number | null>(null);
  const deliveries = useDeliveries(webhook.id, status, page);
  useLastPage(page, deliveries, setPage);
  const resendDead = useResendDead(webhook.id);
  const again = () =>
    resendDead.mutate(undefined, {
      onSuccess: ({ resent }) => notifySuccess(`${pluralize(resent, "event")} will be sent again.`),
      onError: notifyError,
    });
  return (
    <Panel
      title={`Deliveries to ${hostOf(webhook.url)}`}
      right={<CloseButton onClick={onClose} aria-label="Close the deliveries" />}
    >
      <Group px="md" pt="sm" justify="space-between">
        <SegmentedControl
          size="xs"
          aria-label="Delivery status"
          value={status ?? "all"}
          onChange={(value) => {
            setStatus(value === "all" ? null : value);
            setPage(1);
          }}
          data={[
            { value: "all", label: "All" },
            { value: "pending", label: "Waiting" },
            { value: "delivered", label: "Delivered" },
            { value: "dead", label: "Failed" },
          ]}
        />
        <Button size="xs" variant="default" onClick={again} loading={resendDead.isPending}>
          Retry failed deliveries
        </Button>
      </Group>
      <Loaded query={deliveries} what="The deliveries">
        {(data) =>
          data.deliveries.length === 0 ? (
            <Empty isInside title="No deliveries">
              Events appear here as they happen.
            </Empty>
          ) : (
            <>
              <DataTable label="Deliveries" columns={COLUMNS} isTight>
                {data.deliveries.map((delivery) => (
                  <DeliveryRow
                    key={delivery.id}
                    webhookId={webhook.id}
                    delivery={delivery}
                    onOpen={() => setOpenId(delivery.id)}
                  />
                ))}
              </DataTable>
              <Pager
                page={page}
                pages={data.total_pages}
                total={data.total_count}
                what="deliveries"
                onChange={setPage}
              />
            </>
          )
        }
      </Loaded>
      <Drawer
        opened={openId !== null}
        onClose={() => setOpenId(null)}
        position="right"
        title="Delivery"
        closeButtonProps={{ "aria-label": "Close" }}
      >
        {openId !== null && <Detail webhookId={webhook.id} deliveryId={openId} />}
      </Drawer>
    </Panel>
  );
}

function DeliveryRow({
  webhookId,
  delivery,
  onOpen,
}: {
  webhookId: number;
  delivery: Schema<"DeliveryResponse">;
  onOpen: () => void;
}) {
  const resend = useResend(webhookId);
  const verb = delivery.status === "pending" ? "Send now" : "Send again";
  return (
    <Table.Tr>
      <Table.Td ta="right">{delivery.sequence}</Table.Td>
      <Table.Td fw={600}>{delivery.event_type}</Table.Td>
      <Table.Td>
        <Badge color={COLORS[delivery.status]}>{STATES[delivery.status]}</Badge>
      </Table.Td>
      <Table.Td miw={150} style={{ whiteSpace: "normal" }}>
        {delivery.last_status_code ?? delivery.last_error ?? "–"}
      </Table.Td>
      <Table.Td ta="right">{delivery.attempts}</Table.Td>
      <Table.Td c="dimmed">{formatTimeAgo(delivery.created_at)}</Table.Td>
      <Table.Td>
        <Group gap={4} justify="flex-end" wrap="nowrap">
          <Button size="compact-sm" variant="subtle" onClick={onOpen} aria-label={`View delivery ${delivery.sequence}`}>
            View{" "}
          </Button>
          <Button
            size="compact-sm"
            variant="subtle"
            loading={resend.isPending}
            aria-label={`${verb}: delivery ${delivery.sequence}`}
            onClick={() =>
              resend.mutate(delivery.id, {
                onSuccess: () =>
                  notifySuccess(delivery.status === "pending" ? "Sending now." : "Queued to be sent again."),
                onError: notifyError,
              })
            }
          >
            {verb}
          </Button>
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}

function Detail({ webhookId, deliveryId }: { webhookId: number; deliveryId: number }) {
  const delivery = useDelivery(webhookId, deliveryId);
  return (
    <Loaded query={delivery} what="The delivery">
      {(data) => (
        <Stack>
          {data.attempt_log.map((attempt) => (
            <Alert
              key={attempt.attempt}
              color={attempt.error === null ? "brand" : "red"}
              variant="light"
              title={`Attempt ${attempt.attempt}`}
            >
              <Text fz="sm">
                {formatDateTime(attempt.created_at)} · {attempt.status_code ?? "no response"} ·{" "}
                {formatMilliseconds(attempt.duration_ms)}
              </Text>
              {attempt.error && <Text fz="sm">{attempt.error}</Text>}
              {attempt.answer && <Code block>{attempt.answer}</Code>}
            </Alert>
          ))}
          {data.next_attempt_at && <Text fz="sm">Next attempt: {formatDateTime(data.next_attempt_at)}.</Text>}
          <Text fw={600} fz="sm">
            Payload
          </Text>
          <Code block tabIndex={0}>
            {JSON.stringify(data.data, null, 2)}
          </Code>
        </Stack>
      )}
    </Loaded>
  );
}

function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}
