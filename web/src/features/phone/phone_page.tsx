/** How agents reach the telephone network: accounts at carriers, numbers, and calls that nobody could take. */

import { Button } from "@mantine/core";
import { useState } from "react";
import { Empty, Loaded, Page } from "../../components/page";
import { useMay } from "../../lib/account";
import { AccountForm } from "./account_form";
import { AccountPanel } from "./account_panel";
import { type Account, useAccounts, useCarriers } from "./api";
import { QuickConnect } from "./quick_connect";
import { RefusedPanel } from "./refused_panel";

export function PhonePage() {
  const may = useMay();
  const accounts = useAccounts();
  const carriers = useCarriers();
  const [edited, setEdited] = useState<Account | "new" | null>(null);
  const [isConnecting, setIsConnecting] = useState(false);
  const connect = may.admin && <Button onClick={() => setIsConnecting(true)}>Get a number</Button>;
  return (
    <Page
      title="Phone"
      about="Your carriers and numbers. The simulated network is always there, so that calls can be tried without an account."
      actions={
        may.admin && (
          <>
            <Button variant="default" onClick={() => setEdited("new")}>
              Connect a carrier
            </Button>
            {connect}
          </>
        )
      }
    >
      <Loaded query={accounts} what="The carriers" height={240}>
        {(data) =>
          data.configurations.length === 0 ? (
            <Empty title="No carrier yet" action={connect}>
              Connect your account at a carrier, or get a number of this platform in one step, and choose the agent that answers it.
            </Empty>
          ) : (
            <>
              {data.configurations.map((account) => (
                <AccountPanel
                  key={account.id}
                  account={account}
                  carrier={carriers.data?.providers.find((one) => one.provider === account.provider)}
                  onEdit={() => setEdited(account)}
                />
              ))}
            </>
          )
        }
      </Loaded>
      <RefusedPanel />
      {edited !== null && carriers.data && (
        <AccountForm account={edited === "new" ? null : edited} carriers={carriers.data.providers} onClose={() => setEdited(null)} />
      )}
      {isConnecting && <QuickConnect onClose={() => setIsConnecting(false)} />}
    </Page>
  );
}
