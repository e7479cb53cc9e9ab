BBBB BBBB
 #
 #
 #

XX XXXXXXXXXXX XXXXX XXXXXXXXXXXXXXXXXX XXXXXXXXXXXXX XXXXXXXXXXX
XXXXXXXX XXXXXXXXXXXXXXX XXXXX XXXFFFFFFFFFFFFFFFX
         XXXXXXXXXXXXX
         XXXXXXXXXXXX
         XXXXXXXXXXX
         BB BBBBBBBBBBB XXXXXXXXXXXXXXXXXXXXXXX XXXXXXXX BBBB XXXXXXXXXXXXXXXXXXXXXXXXXXXXX BBBBB
         XXXXXXXXXXXX pgettext(u'spoken label', u'All GPUs') XX
  XXXXXXXX
    XXXX pgettext(u'heading', u'GPUs') XXXXX
    XXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXX
    XXXXX XXXXXXXXXXXXXXXXXXXXXXX XXXXX
      XXXXXXX XXXXXXXXXXXXXXX
              XXXXXXXXXXXX pgettext(u'spoken label', u'Group by') XXXXXXXXXXX
      XXXXXXX XXXXXXXXXXXXXX XXXXXXXXXXXX gettext(u'Color of the cells') XXXXXXXXXXX
      XXXXXXX XXXXXXXXXXXXXXXXX
              XXXXXXXXXXXX pgettext(u'spoken label', u'Cluster') XXXXXXXXXXX
      XXXXXXX XXXXXXXXXXXXXX
              XXXXXXXXXXXX pgettext(u'spoken label', u'GPU model') XXXXXXXXXXX
      XXXXXXX XXXXXXXXXXXXXXXXXXX
              XXXXXXXXXXXX pgettext(u'spoken label', u'Partition') XXXXXXXXXXX
      XXXXXXX XXXXXXXXXXXXXXX
              XXXXXXXXXXXX pgettext(u'spoken label', u'State') XXXXXXXXXXX
    XXXXXXX
  XXXXXXXXX
  XXXX XXXXXXXXXXXXX
    XXX XXXXXXXXXXXXXXXXXXXXXXX BB BBBBXXXXXXBBBBBX
      XXXX
        XX XXXXXXXXXXXXXXXXX
         pgettext(u'text, monitoring, not in use', u'Free') 
        XX XXXXXXXXXXXXXXXXXX
      XXXXX
      XXX XXXXXXX gettext(u'Free, but kept for single teams') XX
        XX XXXXXXXXXXXXXXXXXXXXX
         pgettext(u'text, monitoring', u'Reserved') 
        XX XXXXXXXXXXXXXXXXXXXXXX
      XXXXX
      XXX XXXXXXX gettext(u'Filled from below by the utilization of the last 5 minutes') XX
        XX XXXXXXXXXXXXXXXXX
         pgettext(u'text, monitoring', u'In use') 
        XX XXXXXXXXXXXXXXXXXX
      XXXXX
      XXX XXXXXXX gettext(u'Allocated, and less than 10%% used in the last 5 minutes') XX
        XX XXXXXXXXXXXXXXXXX
         pgettext(u'text, monitoring', u'Under 10%% used') 
        XX XXXXXXXXXXXXXXXXXX
      XXXXX
      XXX XXXXXXX gettext(u"Allocated; the node's agent reports no utilization") XX
        XX XXXXXXXXXXXXXXXXXXXXXXX
         gettext(u'Allocated, not measured') 
        XX XXXXXXXXXXXXXXXXXXXXXXXX
      XXXXX
      XXXX
        XX XXXXXXXXXXXXXXXXXXXX
         pgettext(u'state of a node', u'Drained') 
        XX XXXXXXXXXXXXXXXXXXXXX
      XXXXX
      XXX XXXXXXX gettext(u'Nodes that health rules or an operator took out; a corner marks every unhealthy node') XX
        XX XXXXXXXXXXXXXXXXXXXXXX
         pgettext(u'text, monitoring', u'Unhealthy') 
        XX XXXXXXXXXXXXXXXXXXXXXXX
      XXXXX
      XXXX
        XX XXXXXXXXXXXXXXXXX
         pgettext(u'state of a node', u'Down') 
        XX XXXXXXXXXXXXXXXXXX
      XXXXX
    XXXXX
    XXXX XXXXXXXXXXXXXXXXXXXXXXX XXXXXXXXXX BB BBB BBBBXXXXXXBBBBBX
      XXXXX XXXXXXXXX XXXXXXXXXXXXXXXX
      XX XXXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXX
      XXXXX XXXXXXXXX XXXXXXXXXXXXXXXXX
      XXXXX XXXXXXXXX XXXXXXXXXX XXXXXXXXXXXXXX pgettext(u'text, monitoring', u'Not measured') XXXXXXX
      XXXXX XXXXXXXXXXX
            XXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXXXXX pgettext(u'text, monitoring', u'Healthy') XXXXXXX
      XXXXX XXXXXXXXXXX XXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXXXXXXXXX gettext(u'Warned or drained') XXXXXXX
      XXXXX XXXXXXXXXXX
            XXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXXXXXX pgettext(u'text, monitoring', u'Out of service') XXXXXXX
    XXXXXX
    XXXX XXXXXXXXXXXXXXXXXXXXXXX
      XXXXXXX XXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXX
      XXXX XXXXXXXXXXXXXXXXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXX
    XXXXXX
    XX XXXXXXXXXXXXXXXXXXXXXX XXXXXX XXXXXXXXXXXX
      XXXXX XXXXXXXXXXXXXX gettext(u'Choose a cell to get links to its node, GPU, jobs and pools.') XXXXXXX
    XXXX
    XX XXXXXXXXXXXX XXXXXX XXXXXXXXXXXX XXXXXXX
       gettext(u'Some schedulers report only how many GPUs of a node are allocated, not which. There, the first ones are shown.') 
        SSSS SSSSSSSSSS SSSSSS SSSS SSS SSSS SSSS SS S SSSS SSS SSSSSSSSSS SSS SSSSSS SSSSSS SSS
        SSSSS SSSS SSS SSSSSS
      
    XXXX
  XXXXXX
XXXXXXXXXX
