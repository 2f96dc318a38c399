/** What an agent would find: the same search, to try. */

import { Button, Group, Highlight, Stack, Text, TextInput } from "@mantine/core";
import { Search } from "lucide-react";
import { type SubmitEvent, useState } from "react";
import { Panel } from "../../components/layout/panel";
import { Problem } from "../../components/feedback/problem";
import { useSearchDocuments } from "./api";
import classes from "./knowledge.module.css";
import { markedWords } from "./marked-words";

export function SearchPanel({ isEmpty }: { isEmpty: boolean }) {
  const [query, setQuery] = useState("");
  const search = useSearchDocuments();
  const ask = (event: SubmitEvent) => {
    event.preventDefault();
    if (query.trim() !== "") search.mutate(query);
  };
  return (
    <Panel title="Test search">
      <Stack p="lg">
        <form onSubmit={ask}>
          <Group wrap="nowrap">
            <TextInput
              aria-label="Question"
              placeholder="Ask a question"
              leftSection={<Search size={16} />}
              value={query}
              disabled={isEmpty}
              onChange={(event) => {
                setQuery(event.currentTarget.value);
                if (event.currentTarget.value === "") search.reset();
              }}
              style={{ flex: 1 }}
            />
            <Button type="submit" loading={search.isPending} disabled={isEmpty}>
              Search
            </Button>
          </Group>
        </form>
        {isEmpty && (
          <Text fz="sm" c="dimmed">
            No documents are ready yet.
          </Text>
        )}
        {search.isError && <Problem error={search.error} />}
        {search.data?.length === 0 && (
          <Text fz="sm" c="dimmed">
            No matching passages.
          </Text>
        )}
        {search.data && search.data.length > 0 && (
          <ol className={classes.hits}>
            {search.data.map((hit) => (
              <li key={`${hit.document_id}.${hit.text}`}>
                <Group gap={8}>
                  <Text span fz="sm" fw={600}>
                    {hit.name}
                  </Text>
                  {hit.page != null && (
                    <Text span fz="xs" c="dimmed">
                      page {hit.page}
                    </Text>
                  )}
                  {headingWithin(hit) !== "" && (
                    <Text span fz="xs" c="dimmed">
                      {headingWithin(hit)}
                    </Text>
                  )}
                </Group>
                <Highlight fz="sm" highlight={markedWords(search.variables)}>
                  {hit.text}
                </Highlight>
              </li>
            ))}
          </ol>
        )}
      </Stack>
    </Panel>
  );
}

/** Without the document's own title, which stands before it and is often its first heading too. */
function headingWithin({ heading, name }: { heading?: string | null; name: string }): string {
  const parts = (heading ?? "").split(" > ");
  return (parts[0] === name ? parts.slice(1) : parts).join(" > ");
}
