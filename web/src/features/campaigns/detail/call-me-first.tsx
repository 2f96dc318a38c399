/** One call to one's own number, as a contact would get it, before the campaign starts. */

import { Alert, Anchor, Button, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { PhoneCall } from "lucide-react";
import { useState } from "react";
import { FormDialog } from "../../../components/forms/dialog";
import { useForm } from "../../../lib/ui/use-form";
import { type Campaign, useTestCall } from "../api";

export function CallMeFirst({ campaign }: { campaign: Campaign }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button size="md" variant="default" leftSection={<PhoneCall size={17} />} onClick={() => setIsOpen(true)}>
        Call me first
      </Button>
      {isOpen && <CallMeForm campaign={campaign} onClose={() => setIsOpen(false)} />}
    </>
  );
}

export function CallMeForm({ campaign, onClose }: { campaign: Campaign; onClose: () => void }) {
  const call = useTestCall(campaign.id);
  const form = useForm({ phone_number: "" }, call.error, { labels: { phone_number: "Your number" } });
  const placed = call.data;
  return (
    <FormDialog
      title="Call me first"
      isOpen
      onClose={onClose}
      onSubmit={() => (placed === undefined ? call.mutate(form.values) : onClose())}
      submit={placed === undefined ? "Call me" : "Close"}
      isBusy={call.isPending}
      isDone={placed !== undefined}
      problem={form.problem}
    >
      {placed === undefined ? (
        <TextInput
          label="Your number"
          description="You get the same call as a contact: the published agent, with the data of the first contact. It does not count toward the campaign."
          placeholder="+14155550123"
          type="tel"
          required
          data-autofocus
          {...form.text("phone_number")}
        />
      ) : (
        <Alert color="brand" variant="light" title="Your phone should ring now">
          <Anchor
            fz="sm"
            renderRoot={(props) => (
              <Link
                to="/agents/$agentId/runs/$runId"
                params={{ agentId: placed.workflow_id, runId: placed.run_id }}
                {...props}
              />
            )}
          >
            Follow the call
          </Anchor>
        </Alert>
      )}
    </FormDialog>
  );
}
