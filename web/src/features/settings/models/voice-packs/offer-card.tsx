/** The pack that the mirror has: what one agrees to before it is downloaded. */

import { Badge, Button, Group, Loader, Paper, Stack, Text } from "@mantine/core";
import { Problem } from "../../../../components/feedback/problem";
import { FormProblem } from "../../../../components/forms/dialog";
import { formatFileSize } from "../../../../lib/format/format";
import { messageOf } from "../../../../lib/api/errors";
import { type Offer, type Packs, useInstall, useOffer } from "./api";
import { describeContent } from "./pack-words";

export function OfferCard({ found }: { found: Packs }) {
  const offer = useOffer(found.mirrors.addresses);
  if (found.mirrors.addresses.length === 0) return null;
  if (offer.isError)
    return <Problem title="The mirror has no packs" error={offer.error} onRetry={() => void offer.refetch()} />;
  if (offer.data === undefined)
    return (
      <Group gap="xs" role="status">
        <Loader size="xs" />
        <Text fz="sm" c="dimmed">
          Checking the mirror…
        </Text>
      </Group>
    );
  return <Offered offer={offer.data} found={found} />;
}

function Offered({ offer, found }: { offer: Offer; found: Packs }) {
  const install = useInstall();
  const installed = found.packs.find((pack) => pack.name === offer.name);
  const isInstalled = installed?.digest === offer.digest;
  return (
    <Paper withBorder p="md">
      <Stack gap="sm">
        <Group justify="space-between" gap="sm" align="flex-start">
          <Stack gap={2} miw={0}>
            <Text fw={600}>{offer.title}</Text>
            <Text fz="sm" c="dimmed">
              {describeContent(offer)}
            </Text>
            <Text fz="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
              Hash {offer.digest}
            </Text>
          </Stack>
          {isInstalled ? (
            <Badge color="gray">Installed</Badge>
          ) : (
            <Button loading={install.isPending} onClick={() => install.mutate(offer.digest)}>
              {installed === undefined ? "Install" : "Update"}
            </Button>
          )}
        </Group>
        {!isInstalled && (
          <Text fz="sm" c="dimmed">
            Downloads {formatFileSize(offer.size_bytes)} in {offer.file_count} files under {offer.licenses.join(", ")}.
            The disk has {formatFileSize(found.free_bytes)} free.
          </Text>
        )}
        <FormProblem words={install.error ? messageOf(install.error) : null} />
      </Stack>
    </Paper>
  );
}
