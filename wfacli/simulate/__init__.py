"""`wfacli simulate`: pairs with errors."""
