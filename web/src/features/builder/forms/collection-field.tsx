/** Rows of fields, such as variables or headers. */

import { ActionIcon, Button, Input, Stack, Text } from "@mantine/core";
import { Plus, Trash2 } from "lucide-react";
import { type Data, object } from "../../../graph/definition";
import { patched } from "../../../graph/editing/edit";
import { valueOf } from "../../../graph/specs";
import { Field, type InnerProps } from "./fields";
import classes from "./form.module.css";

export function CollectionField({ property, value, onChange, common, isOff, errorAt }: InnerProps) {
  const columns = property.properties ?? [];
  const rows: Data[] = Array.isArray(value) ? value.map(object) : [];
  const one = common.label.replace(/s$/, "");
  const set = (index: number, patch: Data) =>
    onChange(rows.map((row, at) => (at === index ? patched(row, patch) : row)));
  const add = () => {
    const defaults = columns.filter((column) => column.default !== null && column.default !== undefined);
    onChange([...rows, Object.fromEntries(defaults.map((column) => [column.name, column.default]))]);
  };
  return (
    <Input.Wrapper label={common.label} description={common.description} error={common.error} labelElement="div">
      <Stack gap={8} mt={6}>
        {rows.map((row, index) => (
          <fieldset key={index} className={classes.row}>
            <legend>
              {one} {index + 1}
            </legend>
            <Stack gap={8}>
              {columns.map((column) => (
                <Field
                  key={column.name}
                  property={{ ...column, description: column.type === "options" ? "" : column.description }}
                  value={valueOf(column, row)}
                  error={errorAt(`${property.name}.${index}.${column.name}`)}
                  isOff={isOff}
                  onChange={(next) => set(index, { [column.name]: next })}
                  errorAt={errorAt}
                />
              ))}
            </Stack>
            {!isOff && (
              <ActionIcon
                className={classes.removeRow}
                variant="subtle"
                color="gray"
                size="sm"
                aria-label={`Remove ${one} ${index + 1}`}
                onClick={() => onChange(rows.filter((_, at) => at !== index))}
              >
                <Trash2 size={14} />
              </ActionIcon>
            )}
          </fieldset>
        ))}
        {rows.length === 0 && isOff && (
          <Text fz="sm" c="dimmed">
            None
          </Text>
        )}
        {!isOff && (
          <Button variant="default" size="xs" leftSection={<Plus size={14} />} onClick={add} w="max-content">
            Add
          </Button>
        )}
      </Stack>
    </Input.Wrapper>
  );
}
