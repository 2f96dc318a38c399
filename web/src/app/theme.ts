/** The look: one calm green, system fonts, soft corners. */

import { Badge, createTheme, type MantineColorsTuple, Modal, Table } from "@mantine/core";

const brand: MantineColorsTuple = [
  "#e8f8f5",
  "#d3eee8",
  "#a7ddd2",
  "#77cbba",
  "#51bca7",
  "#39b29b",
  "#27a690",
  "#0c8577",
  "#046f63",
  "#005a50",
];

/** Grays of the dark page, with a little of the green. */
const dark: MantineColorsTuple = [
  "#d4dcdd",
  "#b9c4c5",
  "#8b9a9d",
  "#66757a",
  "#4a5659",
  "#2d3537",
  "#232a2c",
  "#1b2022",
  "#161b1c",
  "#121617",
];

export const theme = createTheme({
  primaryColor: "brand",
  primaryShade: 7,
  colors: { brand, dark },
  defaultRadius: "md",
  fontFamily: "Inter, ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif",
  fontFamilyMonospace: "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace",
  headings: { fontWeight: "650" },
  cursorType: "pointer",
  components: {
    Badge: Badge.extend({ defaultProps: { variant: "light", tt: "none", fw: 600, miw: "max-content" } }),
    Modal: Modal.extend({
      defaultProps: { radius: "lg", closeButtonProps: { "aria-label": "Close" } },
      styles: { title: { fontSize: 17, fontWeight: 650 } },
    }),
    Table: Table.extend({ defaultProps: { verticalSpacing: "sm", horizontalSpacing: "lg" } }),
  },
});
