BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBXX
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBXX
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
   gettext(u'All clusters and organizations of this installation.') 
  XXXXXXX XXXXXXX pgettext(u'page title', u'Overview') X
          XXXXXX XX
  BB BBB BBBBBBBB
    XXXXXXXX XXXXXXX gettext(u'Connect your first cluster') XX
       gettext(u'Jobs run on Slurm, on Kubernetes, or on this machine.') 
      XXXXXXX XXXXXXXXXXXXXXX
        XX XXXXXXXXXX XXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX gettext(u'Connect a cluster') XXXX
      XXXXXXXXX
    XXXXXXXXXX
  BBBB
    XXXX XXXXXXXXXXXXXX
      XXXXXXXXX
        XXXX XXXXXXXXXXXXXX
          XXXXXXX XXXXXXX pgettext(u'name of a figure', u'GPUs allocated') X
                  XXXXXXXFFFFFFFFFFFFFFFFX
                  XXXXXXXXXXXXXXXXXXXXXXXXXX
            XXXXX XXXXXXXXXXXXXXXXXX
               pgettext(u'text, monitoring', u'of %(n)s, %(free)s free') 
                SS SSSSSS SSSSSSSS SSSS
              
            XXXXXXX
          XXXXXXXXX
          XXXXXXX XXXXXXX pgettext(u'name of a figure', u'GPU utilization') X
                  XXXXXXXFFFFFFFFFFFFFFX
                  XXXXXXXXXXXXXXXXXXXXXXXXXX
            XXXXX XXXXXXXXXXXXXXXXXX gettext(u'of allocated GPUs, 5 min') XXXXXXX
          XXXXXXXXX
          XXXXXXX XXXXXXX pgettext(u'name of a figure', u'Under 10%% used') X
                  XXXXXXXFFFFFFFFFFFFFFFFX
                  XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
            XXXXX XXXXXXXXXXXXXXXXXX gettext(u'allocated GPUs, last 5 min') XXXXXXX
          XXXXXXXXX
          XXXXXXX XXXXXXX gettext(u'Nodes out of service') X
                  XXXXXXXFFFFFFFFFFFFFFFFX
                  XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
            XXXXX XXXXXXXXXXXXXXXXXX
               pgettext(u'text, monitoring', u'of %(n)s') 
                SS SSSSS
              
            XXXXXXX
          XXXXXXXXX
          XXXXXXX XXXXXXX pgettext(u'name of a figure', u'Unhealthy nodes') X
                  XXXXXXXFFFFFFFFFFFFFFFFX
                  XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
            XXXXX XXXXXXXXXXXXXXXXXX
              BB BBBBBBBBBBBBBBBB
                BB BBBBBBBBBBBBBBBBBB
                  XXXXX XXXXXXXXXXXXXXX
                     pgettext(u'number of nodes', u'%(n)s quarantined') 
                      SSSSS SSSSSSSSSSS
                    
                  XXXXXXX
                BBBBB
                BB BBBBBBBBBBBBBBB
                  XXXXX XXXXXXXXXXXXXXX
                     pgettext(u'number of nodes', u'%(n)s draining') 
                      SSSSS SSSSSSSS
                    
                  XXXXXXX
                BBBBB
                BB BBBBBBBBBBBBBB
                  XXXXX XXXXXXXXXXXXXXX
                     pgettext(u'number of nodes', u'%(n)s with a warning') 
                      SSSSS SSSS S SSSSSSS
                    
                  XXXXXXX
                BBBBB
              BBBB
                 gettext(u'no check finds anything') 
              BBBBB
            XXXXXXX
          XXXXXXXXX
          XXXXXXX XXXXXXX pgettext(u'name of a figure', u'Pending jobs') X
                  XXXXXXXFFFFFFFFFFFFFFFFX
                  XXXXXXXXXXXXXXXXXXXXXXX
            XXXXX XXXXXXXXXXXXXXXXXX
              BB BBBBBBB
                 pgettext(u'text, monitoring', u'longest: %(time)s') 
                  SSSSSSSS SSSSSSSS
                
              BBBB
                 gettext(u'nothing is waiting') 
              BBBBB
            XXXXXXX
          XXXXXXXXX
        XXXXXX
      XXXXXXXXXX
      BB BBBBBB
        XXXX XXXXXXXXXXXX XXXXXXXX
          XXXXXXXX XXXXXXX pgettext(u'heading', u'GPUs, 7 days') X
                   XXXXXXXXXXXXXXXXXXXXXX
                   XXXXXX pgettext(u'link', u'Usage') XX
             pgettext(u'name of a value', u'GPUs, 7 days') 
            XXXXXXXX XXXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXX XXXXXXXXXXXXX XX
          XXXXXXXXXX
          XXXXXXXX XXXXXXX pgettext(u'heading', u'Queue, 7 days') X
                   XXXXXXXXXXXXXXXXXXXXXX
                   XXXXXX pgettext(u'link', u'Queue') XX
             pgettext(u'name of a value', u'Queue, 7 days') 
            XXXXXXXX XXXXXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXX XXXXXXXXXXXXX XX
          XXXXXXXXXX
        XXXXXX
      BBBBB
      BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
      XXXX XXXXXXXXXXXXXX
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
      XXXXXX
      BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
      BB BBBBB
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
      BBBBB
    XXXXXX
  BBBBB
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBBXXXXXXXXXXX
BBBBBBBB
