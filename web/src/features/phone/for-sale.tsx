/** The numbers that can be bought in a place. */

import { Alert, Badge, Group, Radio, Stack, Text } from "@mantine/core";
import { Loaded } from "../../components/layout/page";
import { formatMoney } from "../../lib/format/format";
import type { Schema } from "../../lib/api/types";
import { useAvailable } from "./api";
import classes from "./phone.module.css";

interface ForSaleProps {
  /** ISO 3166, two letters; anything else is still being typed. */
  country: string;
  area: string;
  /** "" is the first one that fits. */
  chosen: string;
  onChoose: (number: string) => void;
  error: string | undefined;
}

export function ForSale({ country, area, chosen, onChoose, error }: ForSaleProps) {
  const isWhole = /^[A-Z]{2}$/.test(country) && /^\d*$/.test(area);
  const available = useAvailable(country, area, isWhole);
  if (!isWhole) return null;
  return (
    <Loaded query={available} what="The available numbers" height={180}>
      {({ numbers, is_simulated: isSimulated }) =>
        numbers.length === 0 ? (
          <Text fz="sm" role="status">
            No numbers are available. Try another area code, or leave it empty.
          </Text>
        ) : (
          <>
            {isSimulated && (
              <Alert variant="light" title="Simulated numbers" mb="sm">
                This server has no carrier of its own, so these numbers are for testing: they are free, and real phones
                cannot call them. To get a real number, connect a carrier.
              </Alert>
            )}
            <Radio.Group label="Number" error={error} value={chosen} onChange={onChoose}>
              <Stack gap={8} mt={8} className={classes.sale}>
                <Radio value="" label="Any available number" />
                {numbers.map((one) => (
                  <Radio
                    key={one.phone_number}
                    value={one.phone_number}
                    label={<Offer one={one} isSimulated={isSimulated} />}
                  />
                ))}
              </Stack>
            </Radio.Group>
          </>
        )
      }
    </Loaded>
  );
}

function Offer({ one, isSimulated }: { one: Schema<"AvailableNumberResponse">; isSimulated: boolean }) {
  return (
    <Group gap={8} component="span">
      <span>{one.friendly_name}</span>
      <Text span fz="sm" c="dimmed">
        {[one.locality, one.region].filter(Boolean).join(", ")}
      </Text>
      <Badge color="gray" component="span">
        {isSimulated
          ? "simulated"
          : one.monthly_cost_cents === null
            ? "price not known"
            : `${formatMoney(one.monthly_cost_cents)} per month`}
      </Badge>
    </Group>
  );
}
