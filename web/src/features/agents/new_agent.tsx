/** Asks for a name and makes the smallest agent that works. */

import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { Problem } from "../../components/problem";
import { useCreateAgent } from "./api";

export function NewAgent({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [name, setName] = useState("");
  const create = useCreateAgent();
  const navigate = useNavigate();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate(name.trim(), {
      onSuccess: (agent) => navigate({ to: "/agents/$agentId", params: { agentId: agent.id } }),
    });
  };
  return (
    <Modal opened={isOpen} onClose={onClose} title="New agent" centered radius="lg">
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label="Name"
            placeholder="Front desk"
            data-autofocus
            required
            maxLength={200}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Text fz="sm" c="dimmed">
            It starts as a draft that greets the caller, asks what they need, and says goodbye.
          </Text>
          {create.isError && <Problem error={create.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={create.isPending} disabled={name.trim() === ""}>
              Create
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
