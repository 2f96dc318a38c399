/** The phone page: carrier accounts, numbers, and rejected calls. */

import { Button } from "@mantine/core";
import { useState } from "react";
import { Empty, Loaded, Page } from "../../components/layout/page";
import { usePermissions } from "../../lib/organization/organization-context";
import { AccountForm } from "./account-form";
import { AccountPanel } from "./account-panel";
import { type Account, useAccounts, useCarriers } from "./api";
import { QuickConnect } from "./quick-connect";
import { RefusedPanel } from "./refused-panel";

export function PhonePage() {
  const permissions = usePermissions();
  const accounts = useAccounts();
  const carriers = useCarriers();
  const [edited, setEdited] = useState<Account | "new" | null>(null);
  const [isConnecting, setIsConnecting] = useState(false);
  const connect = (
    <Button variant="default" onClick={() => setEdited("new")}>
      Connect a carrier
    </Button>
  );
  const buy = <Button onClick={() => setIsConnecting(true)}>Get a number</Button>;
  return (
    <Page
      title="Phone"
      about="Carrier accounts, phone numbers, and the agents that answer them."
      actions={
        permissions.admin && (
          <>
            {connect}
            {buy}
          </>
        )
      }
    >
      <Loaded query={accounts} what="The carriers" height={240}>
        {(data) =>
          data.configurations.length === 0 ? (
            <Empty
              title="No carrier yet"
              action={
                permissions.admin && (
                  <>
                    {connect}
                    {buy}
                  </>
                )
              }
            >
              Connect a carrier account, or get a platform number in one step, and choose the agent that answers it.
            </Empty>
          ) : (
            <>
              {data.configurations.map((account) => (
                <AccountPanel
                  key={account.id}
                  account={account}
                  carrier={carriers.data?.providers.find((one) => one.provider === account.provider)}
                  onEdit={() => setEdited(account)}
                  onBuy={() => setIsConnecting(true)}
                />
              ))}
            </>
          )
        }
      </Loaded>
      <RefusedPanel />
      {edited !== null && carriers.data && (
        <AccountForm
          account={edited === "new" ? null : edited}
          carriers={carriers.data.providers}
          onClose={() => setEdited(null)}
        />
      )}
      {isConnecting && <QuickConnect onClose={() => setIsConnecting(false)} />}
    </Page>
  );
}
