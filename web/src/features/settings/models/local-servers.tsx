/** Model servers that answer on this machine, each used with one click. */

import { Alert, Button, Group } from "@mantine/core";
import type { Schema } from "../../../lib/api/types";
import type { Kind, Service } from "./api";

interface LocalServersProps {
  servers: Schema<"LocalServerResponse">[];
  isReadOnly: boolean;
  onUse: (kind: Kind, service: Service) => void;
}

export function LocalServers({ servers, isReadOnly, onUse }: LocalServersProps) {
  if (servers.length === 0 || isReadOnly) return null;
  return (
    <Alert variant="light" color="blue" title="Found on this machine">
      <Group gap="sm">
        {servers.map((server) => (
          <Button
            key={server.base_url}
            size="xs"
            variant="light"
            onClick={() => onUse(server.kind, server.service as unknown as Service)}
          >
            Use {server.title}
          </Button>
        ))}
      </Group>
    </Alert>
  );
}
