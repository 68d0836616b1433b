"""The tables and figures of the papers that wfacli follows, with this project's numbers beside the papers'."""
