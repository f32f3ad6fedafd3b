"""In the DAGs folder of Airflow 3. The worker has lotlake, and /srv/lotlake with lotlake.config.json and .env."""

from datetime import timedelta

import pendulum
from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

with DAG(
    dag_id="lotlake",
    description="Full pass over the feed, tables, marts, publish",
    schedule="15 2 * * *",
    start_date=pendulum.datetime(2026, 1, 1, tz="UTC"),
    catchup=False,
    max_active_runs=1,
    default_args={"cwd": "/srv/lotlake", "retries": 0},
):
    nightly = BashOperator(
        task_id="nightly",
        bash_command="lotlake run nightly --quiet --log-file lotlake.log",
        # A retry requests no landed page again. 6: another run has the lake.
        retries=1,
        retry_delay=timedelta(minutes=30),
        skip_on_exit_code=6,
        execution_timeout=timedelta(hours=12),
    )
    vacuum = BashOperator(task_id="vacuum", bash_command="lotlake vacuum")
    fresh = BashOperator(task_id="fresh", bash_command="lotlake status --max-age 26h --fail-on-alarm", trigger_rule="all_done")
    nightly >> vacuum >> fresh
