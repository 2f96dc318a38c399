/** The look: one calm green, Figtree in five sizes and two weights, soft corners. */

import { Badge, Combobox, createTheme, type MantineColorsTuple, Menu, Modal, Stepper, Table } from "@mantine/core";

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

/** All that the page uses; `tests/web/test_screens.py` counts them on every screen. */
const SIZES = { xs: "0.75rem", sm: "0.8125rem", md: "0.9375rem", lg: "1.125rem", xl: "1.5rem" };
const WEIGHTS = { regular: "400", medium: "600", bold: "600" };

export const theme = createTheme({
  primaryColor: "brand",
  primaryShade: 7,
  colors: { brand, dark },
  defaultRadius: "md",
  fontFamily: "'Figtree Variable', ui-sans-serif, system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif",
  fontFamilyMonospace: "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace",
  fontSizes: SIZES,
  fontWeights: WEIGHTS,
  headings: {
    fontWeight: WEIGHTS.bold,
    sizes: {
      h1: { fontSize: SIZES.xl, lineHeight: "1.25" },
      h2: { fontSize: SIZES.lg, lineHeight: "1.3" },
      h3: { fontSize: SIZES.md, lineHeight: "1.35" },
      h4: { fontSize: SIZES.sm, lineHeight: "1.4" },
      h5: { fontSize: SIZES.sm, lineHeight: "1.4" },
      h6: { fontSize: SIZES.xs, lineHeight: "1.4" },
    },
  },
  cursorType: "pointer",
  respectReducedMotion: true,
  components: {
    // Its placeholder takes the focus inside the menu and is no item: screen readers are told of a menu that has none.
    Menu: Menu.extend({ defaultProps: { withInitialFocusPlaceholder: false } }),
    Combobox: Combobox.extend({ styles: { groupLabel: { fontSize: SIZES.xs } } }),
    Badge: Badge.extend({
      defaultProps: { variant: "light", tt: "none", fw: 600, fz: "xs", miw: "max-content" },
    }),
    Stepper: Stepper.extend({
      styles: { stepDescription: { fontSize: SIZES.xs }, stepIcon: { fontWeight: WEIGHTS.bold } },
    }),
    Modal: Modal.extend({
      defaultProps: {
        radius: "lg",
        closeButtonProps: { "aria-label": "Close" },
        // Its <header> would be a second banner of the page.
        attributes: { header: { role: "presentation" } },
      },
      styles: { title: { fontSize: SIZES.lg, fontWeight: WEIGHTS.bold } },
    }),
    Table: Table.extend({ defaultProps: { verticalSpacing: 4, horizontalSpacing: "lg" } }),
  },
});
