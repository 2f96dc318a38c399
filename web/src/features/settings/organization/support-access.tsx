/** What superusers may do who act as somebody of this organization. */

import { Switch, Text } from "@mantine/core";
import { Loaded } from "../../../components/layout/page";
import { Panel } from "../../../components/layout/panel";
import { notifyError, notifySuccess } from "../../../lib/ui/notifications";
import { useSaveSupportAccess, useSupportAccess } from "./api";
import classes from "../settings.module.css";

export function SupportAccess() {
  const access = useSupportAccess();
  const save = useSaveSupportAccess();
  const change = (mayWrite: boolean) =>
    save.mutate(mayWrite, { onSuccess: () => notifySuccess("Support access saved."), onError: notifyError });
  return (
    <Panel title="Support access">
      <Loaded query={access} what="The support access">
        {(data) => (
          <div className={classes.form}>
            <Switch
              label="Let superusers make changes"
              checked={data.may_write}
              disabled={save.isPending}
              onChange={(event) => change(event.currentTarget.checked)}
            />
            <Text fz="sm" c="dimmed">
              A superuser of this installation can impersonate a member for an hour, with read-only access unless you
              allow changes. They can never change keys, members, webhooks, credentials, or carrier accounts. The audit
              log records who they are.
            </Text>
          </div>
        )}
      </Loaded>
    </Panel>
  );
}
