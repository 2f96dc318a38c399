/** The lines and bars of the usage pages: one place that knows the chart library, and comes only when something is drawn. */

import { Bar, BarChart, CartesianGrid, Line, LineChart, ResponsiveContainer, Tooltip, XAxis, YAxis } from "recharts";
import { TooltipBox } from "../../components/charts/chart-tooltip";
import classes from "./usage.module.css";

export interface Series {
  key: string;
  name: string;
  color: string;
}

interface ChartProps {
  label: string;
  kind: "bars" | "lines";
  rows: Record<string, string | number | null>[];
  series: readonly Series[];
  show: (value: number) => string;
  /** Names the series below. A single series needs this if the title does not say what it is. */
  hasLegend?: boolean;
}

const TICK = { fill: "var(--muted)", fontSize: "var(--mantine-font-size-xs)" };

/** `rows` have their place on the axis under `at`; bars stand on each other. */
export default function Chart({ label, kind, rows, series, show, hasLegend = series.length > 1 }: ChartProps) {
  const Kind = kind === "bars" ? BarChart : LineChart;
  return (
    <figure className={classes.figure} aria-label={label}>
      <div className={classes.plot}>
        <ResponsiveContainer>
          <Kind data={rows} accessibilityLayer={false} margin={{ top: 6, right: 12, bottom: 0, left: 0 }}>
            <CartesianGrid vertical={false} stroke="var(--line)" />
            <XAxis dataKey="at" tickLine={false} axisLine={false} tick={TICK} minTickGap={28} />
            <YAxis
              tickLine={false}
              axisLine={false}
              tick={TICK}
              width={62}
              tickFormatter={show}
              allowDecimals={false}
            />
            <Tooltip
              content={<TooltipBox show={show} />}
              cursor={kind === "bars" ? { fill: "var(--soft)" } : { stroke: "var(--wire)" }}
            />
            {series.map((one) =>
              kind === "bars" ? (
                <Bar
                  key={one.key}
                  dataKey={one.key}
                  name={one.name}
                  stackId="all"
                  fill={one.color}
                  maxBarSize={26}
                  isAnimationActive={false}
                />
              ) : (
                <Line
                  key={one.key}
                  dataKey={one.key}
                  name={one.name}
                  stroke={one.color}
                  strokeWidth={2}
                  dot={rows.filter((row) => row[one.key] !== null).length <= 14}
                  connectNulls
                  isAnimationActive={false}
                />
              ),
            )}
          </Kind>
        </ResponsiveContainer>
      </div>
      {hasLegend && <Legend series={series} />}
    </figure>
  );
}

function Legend({ series }: { series: readonly Series[] }) {
  return (
    <ul className={classes.legend}>
      {series.map((one) => (
        <li key={one.key}>
          <i style={{ background: one.color }} />
          {one.name}
        </li>
      ))}
    </ul>
  );
}
