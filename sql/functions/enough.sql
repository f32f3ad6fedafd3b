-- Whether a statistic has enough values to be shown. The function is made when dim_settings has been computed.
create macro if not exists enough(number_of_values) as number_of_values >= (select minimum_group from dim_settings);
