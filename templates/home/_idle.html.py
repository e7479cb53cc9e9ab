BBBB BBBB BBBBBB
 #

XXXXXXXX XXXXXXX pgettext(u'heading', u'Idle GPUs') X
         XXXXXXXFFFFFFFFFFFFFFFFX
         XXXXXXXXXXXXX
         XXXXXX pgettext(u'link', u'View all') X
         XXXXXXXXXXXXXXXXXXX
  BBB BBB BB BBBB
    XXXX XXXXXXXXXXXXXXXXX
      XXXX XXXXXXXXXXXXX
        XX XXXXXXXXXXXX XXXXX XXXXXXXXXXXX
        XX XXXXXXXXXXXX XXXXXXX
           X
           gettext(u'%(gpus)s of %(total)s GPUs, %(hours)s GPU-h') 
            SSSSSSSS SS SSSSSSSSS SSSSS SSSSSSSSS SSSSS
          
        XXXX
      XXXXXX
      BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBB
    XXXXXX
  BBBBB
    XX XXXXXXXXXXXX XXXXXXX gettext(u'No running job has had GPUs below 10%% for 30 minutes.') XXXX
  BBBBBB
XXXXXXXXXX
