/** What is wrong with a contact file, row by row. */

import { Table, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { DataTable } from "../../../components/tables/data-table";
import { pluralize } from "../../../lib/format/format";
import type { RowProblem } from "./contacts-csv";

interface RowProblemsProps {
  problems: readonly RowProblem[];
  total: number;
  /** What can be done about it here. */
  children?: ReactNode;
}

export function RowProblems({ problems, total, children }: RowProblemsProps) {
  const general = problems.filter((problem) => problem.row === null);
  const inRows = problems.filter((problem) => problem.row !== null);
  const count = total - general.length;
  return (
    <div role="alert">
      {general.map((problem) => (
        <Text key={problem.message} pb="xs" fz="sm" c="red" fw={600}>
          {problem.message}
        </Text>
      ))}
      {inRows.length > 0 && (
        <>
          <Text pb="xs" fz="sm" c="red" fw={600}>
            {pluralize(count, "problem")} in this file. Fix {count === 1 ? "it" : "them"} and choose the file again
            {children ? ", or go on here:" : "."}
          </Text>
          {children}
          <ProblemTable problems={inRows} />
        </>
      )}
      {total > problems.length && (
        <Text py="sm" fz="sm" c="dimmed">
          Showing the first {problems.length}.
        </Text>
      )}
    </div>
  );
}

function ProblemTable({ problems }: { problems: readonly RowProblem[] }) {
  return (
    <DataTable
      label="Problems in the file"
      columns={[{ title: "Row", width: 80 }, { title: "Column", width: 160 }, { title: "Problem" }]}
      minWidth={480}
    >
      {problems.map((problem) => (
        <Table.Tr key={`${problem.row}.${problem.column ?? ""}.${problem.message}`}>
          <Table.Td>{problem.row}</Table.Td>
          <Table.Td>{problem.column ?? "–"}</Table.Td>
          <Table.Td>{problem.message}</Table.Td>
        </Table.Tr>
      ))}
    </DataTable>
  );
}
