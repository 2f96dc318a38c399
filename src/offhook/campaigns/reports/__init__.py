"""Progress, reports and explanations of campaigns."""
